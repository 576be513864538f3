//! What handlers may return, so that one that cannot fail needs no `Ok(())` and one that can uses `?`.

use crate::failure::Failure;
use serde::Serialize;
use serde_json::Value;

/// What a hook or a command may return: nothing, the value itself, or a `Result` of either with any printable error.
pub trait Returns<T> {
    #[doc(hidden)]
    fn returned(self) -> Result<T, Failure>;
}

impl<T: From<()>> Returns<T> for () {
    fn returned(self) -> Result<T, Failure> {
        Ok(T::from(()))
    }
}

impl<T, V: Into<T>, E: Into<Failure>> Returns<T> for Result<V, E> {
    fn returned(self) -> Result<T, Failure> {
        self.map(Into::into).map_err(Into::into)
    }
}

/// What a tool may return: a `Result` of anything that serializes to a JSON object, or a [`Value`] when it cannot fail.
/// `Ok(())` stands for the empty object.
pub trait Answer {
    /// The object as text; `Err` for a fault.
    #[doc(hidden)]
    fn into_answer(self) -> Result<String, String>;
}

impl<T: Serialize, E: Into<Failure>> Answer for Result<T, E> {
    fn into_answer(self) -> Result<String, String> {
        let answer = match self {
            Ok(answer) => serde_json::to_string(&answer),
            Err(error) => return error.into().into_answer(),
        };
        match answer {
            // `Ok(())`: done, and nothing to say about it.
            Ok(nothing) if nothing == "null" => Ok("{}".to_owned()),
            Ok(answer) => Ok(answer),
            Err(error) => Err(format!("the answer is no JSON: {error}")),
        }
    }
}

impl Answer for Value {
    fn into_answer(self) -> Result<String, String> {
        Ok(self.to_string())
    }
}
