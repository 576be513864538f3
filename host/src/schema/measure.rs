//! How large and how deep arguments are, before anything else looks at them.
//!
//! Separate from the cost because it needs no schema, and is all that most calls pay.

use serde_json::{Number, Value};

use super::{MAX_DIGITS, Violation, text};

/// What arguments are made of.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    /// Their size in the units of [`text::size`].
    pub(super) units: u64,
    /// Arrays and objects within each other.
    pub(super) depth: usize,
}

/// The size of arguments that are not nested deeper than `max_depth` and hold no overlong number.
pub(super) fn measure(arguments: &Value, max_depth: usize) -> Result<Measure, Violation> {
    let mut fewest_left = max_depth;
    match measure_level(arguments, max_depth, &mut fewest_left) {
        Ok(units) => Ok(Measure { units, depth: max_depth - fewest_left }),
        Err(Excess::Depth) => Err(Violation::root(format!("nested too deep, this schema allows {max_depth} levels"))),
        Err(Excess::Digits(number)) => Err(Violation::root(text::too_many_digits(number))),
    }
}

enum Excess<'a> {
    Depth,
    Digits(&'a Number),
}

fn measure_level<'a>(value: &'a Value, levels: usize, fewest_left: &mut usize) -> Result<u64, Excess<'a>> {
    let mut units = 1;
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::String(string) => units += string.len() as u64 / 64,
        Value::Number(number) if number.as_str().len() > MAX_DIGITS => return Err(Excess::Digits(number)),
        Value::Number(number) => units += text::digits(number),
        Value::Array(_) | Value::Object(_) if levels == 0 => return Err(Excess::Depth),
        Value::Array(items) => {
            *fewest_left = (levels - 1).min(*fewest_left);
            for item in items {
                units += measure_level(item, levels - 1, fewest_left)?;
            }
        }
        Value::Object(map) => {
            *fewest_left = (levels - 1).min(*fewest_left);
            for (name, child) in map {
                units += name.len() as u64 / 64 + measure_level(child, levels - 1, fewest_left)?;
            }
        }
    }
    Ok(units)
}
