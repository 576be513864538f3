//! How many steps a check can take: refused at load where no arguments would do, counted before a check otherwise.
//!
//! `jsonschema` remembers results only for values inside recursive schemas and only for yes or no. A schema of 2 KB
//! that applies two references to the same value, 30 levels down, runs for hours (measured with 0.60.2), and gathering
//! errors takes every way through every schema. So the ways are counted first, with a limit.

use std::thread;

use serde_json::Value;

use super::{
    MAX_DEPTH, SchemaError,
    graph::{Graph, Node, NodeId},
    text,
};

/// Subschemas of which each applies the next to the same value; 64 hand-written levels are beyond any real schema.
const MAX_IN_PLACE_DEPTH: usize = 64;
/// Steps for one value without its children: a `oneOf` of thousands fits, a doubling of doublings does not.
const MAX_IN_PLACE_STEPS: u64 = 100_000;
/// Levels of subschemas the static bound follows down one way before it gives up, for the stack's sake.
const MAX_STATIC_DEPTH: usize = 256;
/// Validators of `jsonschema` that may be nested in each other.
const MAX_VALIDATORS: usize = 1024;
/// Up to this many run on the stack of the caller: with all around them they take less than 0.4 MiB in a debug build.
const MAX_VALIDATORS_OF_CALLER: usize = 64;
/// Stack for one of them; the dearest take less than a quarter of it in a debug build.
const STACK_A_VALIDATOR: usize = 16 << 10;
/// State steps of the pattern engine that take about as long as one step here.
const STATES_A_STEP: u64 = 32;
/// How often an `unevaluated…` keyword makes `jsonschema` run what applies in place (measured: 2.6 times a level).
const MARKING: u64 = 3;

/// What holds for every check with a schema.
#[derive(Debug)]
pub(super) struct Bounds {
    /// Steps for each unit of [`text::size`] of the arguments; `u64::MAX` for a recursive schema and `uniqueItems`.
    pub(super) steps_per_unit: u64,
    /// How deep arguments may be nested.
    pub(super) max_depth: usize,
    /// Subschemas of which each applies the next to the same value.
    in_place_depth: usize,
}

impl Bounds {
    /// Runs a check of arguments of that depth on a stack it fits on; nothing if there is no memory for one.
    pub(super) fn on_stack<T: Send>(&self, depth: usize, check: impl FnOnce() -> T + Send) -> Option<T> {
        let validators = (depth + 1) * self.in_place_depth;
        if validators <= MAX_VALIDATORS_OF_CALLER {
            return Some(check());
        }
        thread::scope(|scope| {
            let stack = validators * STACK_A_VALIDATOR;
            let checking = thread::Builder::new().stack_size(stack).spawn_scoped(scope, check).ok()?;
            checking.join().ok()
        })
    }
}

/// What a check would take.
#[derive(Default)]
pub(super) struct Steps {
    /// Of evaluating every keyword in every way.
    pub(super) total: u64,
    /// Units of values that are copied into errors of `anyOf` and `oneOf`.
    pub(super) copied: u64,
}

/// Refuses schemas that apply to one value without end, too deep or too often, and bounds the rest.
pub(super) fn bounds(graph: &Graph) -> Result<Bounds, SchemaError> {
    let mut in_place = InPlace { graph, seen: vec![Seen::Not; graph.nodes.len()] };
    let mut deepest = 1;
    for id in 0..graph.nodes.len() {
        let (depth, steps) = in_place.visit(id, 1)?;
        if steps > MAX_IN_PLACE_STEPS {
            return Err(SchemaError::TooComplex { max: MAX_IN_PLACE_STEPS });
        }
        deepest = deepest.max(depth);
    }
    let mut expansion = vec![Seen::Not; graph.nodes.len()];
    Ok(Bounds {
        steps_per_unit: expand(graph, 0, 1, &mut expansion),
        max_depth: (MAX_VALIDATORS / deepest).min(MAX_DEPTH),
        in_place_depth: deepest,
    })
}

#[derive(Clone, Copy)]
enum Seen {
    Not,
    Open,
    Done(usize, u64),
}

struct InPlace<'a> {
    graph: &'a Graph,
    seen: Vec<Seen>,
}

impl InPlace<'_> {
    /// Depth and steps of what a node applies to one value.
    fn visit(&mut self, id: NodeId, level: usize) -> Result<(usize, u64), SchemaError> {
        match self.seen[id] {
            Seen::Done(depth, steps) => return Ok((depth, steps)),
            Seen::Open => return Err(SchemaError::Endless),
            Seen::Not => self.seen[id] = Seen::Open,
        }
        let node = &self.graph.nodes[id];
        let mut deepest = 0;
        let mut steps: u64 = 0;
        for next in node.in_place.iter().chain(&node.alternatives) {
            if level >= MAX_IN_PLACE_DEPTH {
                return Err(SchemaError::TooDeep { max: MAX_IN_PLACE_DEPTH });
            }
            let (depth, more) = self.visit(*next, level + 1)?;
            deepest = deepest.max(depth);
            steps = steps.saturating_add(more);
        }
        // A part that was visited before may sit deeper here than where it was first met.
        if deepest >= MAX_IN_PLACE_DEPTH {
            return Err(SchemaError::TooDeep { max: MAX_IN_PLACE_DEPTH });
        }
        let steps = steps.saturating_mul(marking(node)).saturating_add(node.cost);
        self.seen[id] = Seen::Done(deepest + 1, steps);
        Ok((deepest + 1, steps))
    }
}

/// Steps that one unit of arguments can take at most: every way through the schema passes each value at most once.
fn expand(graph: &Graph, id: NodeId, level: usize, seen: &mut [Seen]) -> u64 {
    match seen[id] {
        Seen::Done(_, steps) => return steps,
        Seen::Open => return u64::MAX,
        Seen::Not if level > MAX_STATIC_DEPTH => return u64::MAX,
        Seen::Not => seen[id] = Seen::Open,
    }
    let node = &graph.nodes[id];
    let here = node.in_place.iter().chain(&node.alternatives);
    let below = (node.properties.values())
        .chain(&node.other_properties)
        .chain(&node.any_property)
        .chain(&node.names)
        .chain(&node.prefix)
        .chain(&node.any_item);
    let mut steps: u64 = 0;
    for next in here.chain(below) {
        steps = steps.saturating_add(expand(graph, *next, level + 1, seen));
    }
    // A unit is 64 bytes of text or less, so it takes two steps for each state of a pattern.
    let states = node.string_states.saturating_add(node.name_states).saturating_mul(64 / STATES_A_STEP);
    let own = node.cost.saturating_add(states).saturating_add(4);
    // Comparing items with each other is not bounded by their number.
    let steps = if node.unique { u64::MAX } else { steps.saturating_mul(marking(node)).saturating_add(own) };
    seen[id] = Seen::Done(0, steps);
    steps
}

fn marking(node: &Node) -> u64 {
    if node.marks_properties || node.marks_items { MARKING } else { 1 }
}

/// Counts the steps that a check takes; nothing when it is more than `limit`.
pub(super) fn count(graph: &Graph, arguments: &Value, limit: u64) -> Option<Steps> {
    let mut counter = Counter { graph, limit, steps: Steps::default() };
    counter.visit(0, arguments, 1, false)?;
    Some(counter.steps)
}

struct Counter<'a> {
    graph: &'a Graph,
    limit: u64,
    steps: Steps,
}

impl Counter<'_> {
    fn spend(&mut self, steps: u64, times: u64) -> Option<()> {
        self.steps.total = self.steps.total.saturating_add(steps.saturating_mul(times));
        (self.steps.total <= self.limit).then_some(())
    }

    /// Goes every way, as gathering errors does; `times` is how often this one is gone.
    fn visit(&mut self, id: NodeId, value: &Value, times: u64, copies: bool) -> Option<()> {
        let node = &self.graph.nodes[id];
        self.spend(node.cost, times)?;
        if copies {
            let units = text::size(value);
            self.spend(units, times)?;
            self.steps.copied = self.steps.copied.saturating_add(units.saturating_mul(times));
        }
        let marks = node.marks_properties && value.is_object() || node.marks_items && value.is_array();
        let times = if marks { times.saturating_mul(MARKING) } else { times };
        for next in &node.in_place {
            self.visit(*next, value, times, copies)?;
        }
        for next in &node.alternatives {
            self.visit(*next, value, times, true)?;
        }
        match value {
            Value::String(string) => self.spend(matching(string, node.string_states), times)?,
            Value::Object(map) => {
                for (name, child) in map {
                    self.spend(matching(name, node.name_states), times)?;
                    let named = node.properties.get(name);
                    let other = node.other_properties.iter().filter(|_| named.is_none());
                    for next in named.into_iter().chain(other).chain(&node.any_property) {
                        self.visit(*next, child, times, copies)?;
                    }
                    for next in &node.names {
                        self.visit(*next, &Value::String(name.clone()), times, copies)?;
                    }
                }
            }
            Value::Array(items) => {
                if node.unique {
                    self.spend(comparing(items), times)?;
                }
                for (idx, item) in items.iter().enumerate() {
                    for next in node.prefix.get(idx).into_iter().chain(&node.any_item) {
                        self.visit(*next, item, times, copies)?;
                    }
                }
            }
            Value::Number(number) => self.spend(text::digits(number).saturating_mul(node.cost), times)?,
            Value::Null | Value::Bool(_) => {}
        }
        Some(())
    }
}

/// Steps of `uniqueItems`, which compares items that hash alike pair by pair.
///
/// `jsonschema` hashes numbers as `f64` and arrays by their leaves, so arrays, objects and long numbers can be made to
/// hash alike (20,000 numbers of 400 digits took ten minutes); strings and numbers of at most 15 digits cannot.
fn comparing(items: &[Value]) -> u64 {
    let mut n_alike: u64 = 0;
    let mut steps: u64 = 0;
    for item in items {
        steps += match item {
            Value::Null | Value::Bool(_) | Value::String(_) => 2,
            Value::Number(number) if number.as_str().len() <= 15 => 2,
            Value::Number(number) => {
                n_alike += 1;
                number.as_str().len() as u64
            }
            Value::Array(_) | Value::Object(_) => {
                n_alike += 1;
                text::size(item)
            }
        };
    }
    steps.saturating_mul(n_alike.max(1))
}

fn matching(text: &str, states: u64) -> u64 {
    (text.len() as u64).saturating_mul(states) / STATES_A_STEP
}
