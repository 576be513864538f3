//! [`HostError`], why the host did not do what a plugin asked of it. Apart from `Failure`, which goes the other way.

use std::{error::Error, fmt};

/// The host refused or failed. The text is for a person, and names the missing grant where that is the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    message: String,
}

impl HostError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Error for HostError {}
