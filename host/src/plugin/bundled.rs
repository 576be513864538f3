//! The plugins that come with the program, built by `build.rs` and embedded.
//!
//! Apart, because the generated file is the build's, and everything else is ours.

include!(concat!(env!("OUT_DIR"), "/bundled.rs"));
