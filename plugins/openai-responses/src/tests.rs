//! Run natively: `bellglass_guest::test` plays the host and the server.
