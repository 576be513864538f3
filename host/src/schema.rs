//! Arguments of a tool against the JSON Schema that its plugin gave.
//!
//! Separate because both sides are strangers: the schema comes from a plugin, the arguments from a model. Neither may
//! make the host hang, run out of stack or open anything, and what is wrong is said in words a model can act on.
//!
//! `jsonschema` is the judge of what is valid. Before it runs, `cost` bounds what it will do.

mod correct;
mod cost;
mod error;
mod expected;
mod graph;
mod measure;
mod pattern;
mod reference;
mod sentence;
mod text;

// One case a line, however long.
#[cfg(test)]
#[rustfmt::skip]
mod tests;
#[cfg(test)]
#[rustfmt::skip]
mod tests_correct;
#[cfg(test)]
mod tests_hostile;
#[cfg(test)]
mod tests_limits;
#[cfg(test)]
mod tests_properties;

use std::fmt;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

pub use correct::Corrected;
pub use error::SchemaError;
use graph::Graph;
use measure::Measure;
use sentence::Subject;

/// Depth of a schema or of arguments; where `serde_json` stops as well.
const MAX_DEPTH: usize = 128;
/// Characters of one number: a key of 4096 bits has 1234 digits, a division takes 0.2 ms with these.
const MAX_DIGITS: usize = 2048;
/// Violations told one by one; a model that got more than these wrong starts anew anyway.
const MAX_VIOLATIONS: usize = 16;
/// Steps of one check, 0.1 s or, for what is made to be slow, 0.7 s: a list of a million numbers passes.
const CHECK_STEPS: u64 = 8_000_000;
/// Steps up to which all errors are gathered: each can leave an error of a few hundred bytes behind.
const EXPLAIN_STEPS: u64 = 200_000;
/// Bytes of all compiled patterns of a schema together, half for the programs and half for what they cache.
const PATTERN_BYTES: usize = 2 << 20;

/// The schema of a tool's arguments, compiled once when its plugin is loaded.
#[derive(Debug)]
pub struct Schema {
    document: Value,
    validator: Validator,
    graph: Graph,
    bounds: cost::Bounds,
}

impl Schema {
    /// Compiles the schema that a plugin wrote; draft 2020-12 unless `$schema` says otherwise.
    ///
    /// A text of more than `max_bytes` is refused before it is read. References are followed inside the schema only:
    /// no file and no connection is opened.
    pub fn compile(text: &str, max_bytes: usize) -> Result<Schema, SchemaError> {
        if text.len() > max_bytes {
            return Err(SchemaError::TooLarge { bytes: text.len(), max: max_bytes });
        }
        let document: Value = serde_json::from_str(text).map_err(SchemaError::NotJson)?;
        if document.get("type").and_then(Value::as_str) != Some("object") {
            return Err(error::root_type(&document));
        }
        let graph = Graph::build(&document)?;
        let bounds = cost::bounds(&graph)?;
        let share = PATTERN_BYTES / 2 / graph.n_patterns.max(1);
        let patterns = PatternOptions::regex().size_limit(share).dfa_size_limit(share);
        let validator = jsonschema::options()
            .with_pattern_options(patterns)
            .offline()
            .build(&document)
            .map_err(|invalid| error::from_build(&document, &invalid, share))?;
        Ok(Schema { document, validator, graph, bounds })
    }

    /// The schema as the plugin wrote it: unknown keywords, digits and the order of keys are kept.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// What is wrong with the arguments, nothing if they are valid.
    ///
    /// At most 16 violations; one more says how many were left out.
    pub fn check(&self, arguments: &Value) -> Vec<Violation> {
        let measure = match measure::measure(arguments, self.bounds.max_depth) {
            Ok(measure) => measure,
            Err(violation) => return vec![violation],
        };
        let checked = self.bounds.on_stack(measure.depth, || {
            if let Err(violation) = self.affordable(arguments, measure) {
                return vec![violation];
            }
            if self.validator.is_valid(arguments) { Vec::new() } else { self.violations(arguments) }
        });
        checked.unwrap_or_else(|| vec![Violation::root("could not be checked, there is no memory to do so".to_owned())])
    }

    /// Repairs what models get wrong, where the schema demands it and nothing is lost; only if the result is valid.
    ///
    /// A string that holds exactly a number, `true`, `false`, an array or an object becomes that value where the
    /// string is of the wrong type. Digits are kept. Space around a number or a boolean is no part of it, so `" 5"`
    /// stays as it is. `None` when the arguments are valid already, or take more than 200,000 steps to check.
    pub fn correct(&self, arguments: &Value) -> Option<Corrected> {
        correct::correct(self, arguments)
    }

    /// The violations of arguments that are not valid, at least one.
    fn violations(&self, arguments: &Value) -> Vec<Violation> {
        let subject = Subject::new(&self.document, arguments);
        let mut violations: Vec<Violation> = Vec::new();
        let mut n_more = 0;
        for invalid in self.explain(arguments) {
            if violations.len() == MAX_VIOLATIONS {
                n_more += 1;
                continue;
            }
            let violation = subject.violation(&invalid);
            if !violations.contains(&violation) {
                violations.push(violation);
            }
        }
        if violations.is_empty() {
            violations
                .push(Violation::root("do not match the schema, and are too large for it to say where".to_owned()));
        }
        if n_more > 0 {
            violations.push(Violation { pointer: String::new(), sentence: format!("and {n_more} more") });
        }
        violations
    }

    /// Whether a check of these arguments ends soon.
    fn affordable(&self, arguments: &Value, measure: Measure) -> Result<(), Violation> {
        if self.bounds.steps_per_unit.saturating_mul(measure.units) <= CHECK_STEPS {
            return Ok(());
        }
        match cost::count(&self.graph, arguments, CHECK_STEPS) {
            Some(_) => Ok(()),
            None => Err(Violation::root(format!(
                "too much to check, it takes more than {CHECK_STEPS} steps with this schema"
            ))),
        }
    }

    /// The errors of affordable arguments: all, or the first, or none, by what gathering them takes.
    fn explain<'a>(&'a self, arguments: &'a Value) -> Vec<jsonschema::ValidationError<'a>> {
        match cost::count(&self.graph, arguments, CHECK_STEPS) {
            Some(steps) if steps.total <= EXPLAIN_STEPS => self.validator.iter_errors(arguments).collect(),
            Some(steps) if steps.copied <= EXPLAIN_STEPS => {
                self.validator.validate(arguments).err().into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph({} subschemas)", self.nodes.len())
    }
}

/// One thing that is wrong with arguments, as a sentence for the model.
///
/// `Display` names the JSON pointer, what was expected and what came:
/// ``argument `/days`: expected an integer from 1 to 7, got "seven"``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pointer: String,
    sentence: String,
}

impl Violation {
    /// The JSON pointer to the argument, empty for the arguments as a whole.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    fn root(problem: String) -> Violation {
        Violation::at("", &problem)
    }

    fn at(pointer: &str, problem: &str) -> Violation {
        let subject = match pointer {
            "" => "arguments".to_owned(),
            _ => format!("argument `{}`", text::pointer(pointer)),
        };
        Violation { pointer: pointer.to_owned(), sentence: format!("{subject}: {problem}") }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Violation {}

/// Reads the arguments of a call as a model wrote them.
///
/// An empty or blank text and `null` mean `{}`. What is no JSON, or no object, is a violation.
pub fn parse_arguments(text: &str) -> Result<Value, Violation> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    let arguments: Value = serde_json::from_str(text)
        .map_err(|invalid| Violation::root(format!("expected a JSON object, got text that is not JSON: {invalid}")))?;
    match arguments {
        Value::Object(_) => Ok(arguments),
        Value::Null => Ok(Value::Object(serde_json::Map::new())),
        other => Err(Violation::root(format!("expected an object, got {}", text::value(&other)))),
    }
}
