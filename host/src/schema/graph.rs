//! The subschemas of a document and which of them applies to what.
//!
//! Apart from `jsonschema`, because its compiled form can be run but not asked how much it will run.
//! Every edge here is one that it may follow; where the rules are involved (dynamic scope, `$id`) there are more
//! edges than it follows, never fewer, so a bound that holds here holds there.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    SchemaError, pattern,
    reference::{Place, at_pointer, identifier, last_segment, percent_decoded},
    text,
};

/// Index of a node in [`Graph::nodes`].
pub(super) type NodeId = usize;

/// One subschema: what it costs and where it leads.
#[derive(Default)]
pub(super) struct Node {
    /// Steps of the keywords written here, subschemas left out.
    pub(super) cost: u64,
    /// States of the patterns that a string is matched with.
    pub(super) string_states: u64,
    /// States of the patterns that each name of a property is matched with.
    pub(super) name_states: u64,
    /// Applied to the same value, errors gathered in the list of all.
    pub(super) in_place: Vec<NodeId>,
    /// Applied to the same value; their errors are copies that own the value (`anyOf`, `oneOf`).
    pub(super) alternatives: Vec<NodeId>,
    /// Applied to the property of that name.
    pub(super) properties: HashMap<String, NodeId>,
    /// Applied to every property that `properties` does not name.
    pub(super) other_properties: Vec<NodeId>,
    /// Applied to any property.
    pub(super) any_property: Vec<NodeId>,
    /// Applied to the name of every property.
    pub(super) names: Vec<NodeId>,
    /// Applied to the item at that place.
    pub(super) prefix: Vec<NodeId>,
    /// Applied to any item.
    pub(super) any_item: Vec<NodeId>,
    /// Items are compared with each other.
    pub(super) unique: bool,
    /// Holds `unevaluatedProperties`, for which `jsonschema` runs what applies to the same object twice more.
    pub(super) marks_properties: bool,
    /// Holds `unevaluatedItems`, the same for arrays.
    pub(super) marks_items: bool,
}

/// All subschemas that can be reached from the root, which is node 0.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// Patterns in the whole document; they share the budget for compiled patterns.
    pub(super) n_patterns: usize,
}

impl Graph {
    /// Follows every keyword and reference from the root.
    pub(super) fn build(document: &Value) -> Result<Graph, SchemaError> {
        let mut builder = Builder {
            document,
            resources: Vec::new(),
            anchors: HashMap::new(),
            ids: HashMap::new(),
            nodes: Vec::new(),
            queue: Vec::new(),
            n_patterns: 0,
        };
        builder.index()?;
        builder.node((document, document));
        while let Some((id, place)) = builder.queue.pop() {
            if let Value::Object(schema) = place.0 {
                builder.expand(id, schema, place)?;
            }
        }
        Ok(Graph { nodes: builder.nodes, n_patterns: builder.n_patterns })
    }
}

struct Builder<'a> {
    document: &'a Value,
    /// Every value with an `$id`, by that `$id`.
    resources: Vec<(&'a str, &'a Value)>,
    anchors: HashMap<&'a str, Vec<Place<'a>>>,
    /// By address: a subschema is one node, however many references lead to it.
    ids: HashMap<*const Value, NodeId>,
    nodes: Vec<Node>,
    queue: Vec<(NodeId, Place<'a>)>,
    n_patterns: usize,
}

impl<'a> Builder<'a> {
    /// Finds identifiers, anchors, patterns and overlong numbers, wherever they are written.
    fn index(&mut self) -> Result<(), SchemaError> {
        let mut open = vec![(self.document, self.document, 0)];
        while let Some((value, outer, level)) = open.pop() {
            // `serde_json` stops at the same depth, except in text that names its own raw values.
            if level > super::MAX_DEPTH {
                return Err(SchemaError::TooDeep { max: super::MAX_DEPTH });
            }
            match value {
                Value::Object(map) => {
                    let base = if identifier(map).is_some() { value } else { outer };
                    if let Some(id) = identifier(map) {
                        self.resources.push((id, value));
                    }
                    let old_anchor = ["$id", "id"].iter().filter_map(|key| map.get(*key)?.as_str()?.strip_prefix('#'));
                    let anchor = ["$anchor", "$dynamicAnchor"].iter().filter_map(|key| map.get(*key)?.as_str());
                    for name in anchor.chain(old_anchor) {
                        self.anchors.entry(name).or_default().push((value, base));
                    }
                    self.n_patterns += usize::from(map.get("pattern").is_some_and(Value::is_string));
                    if let Some(Value::Object(patterns)) = map.get("patternProperties") {
                        self.n_patterns += patterns.len();
                    }
                    open.extend(map.values().map(|child| (child, base, level + 1)));
                }
                Value::Array(items) => open.extend(items.iter().map(|child| (child, outer, level + 1))),
                Value::Number(number) if number.as_str().len() > super::MAX_DIGITS => {
                    return Err(SchemaError::Keyword {
                        pointer: self.pointer_to(value),
                        problem: text::too_many_digits(number),
                    });
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        Ok(())
    }

    /// The node of a subschema; a new one waits in the queue for its edges.
    fn node(&mut self, (value, outer): Place<'a>) -> NodeId {
        let next = self.nodes.len();
        let id = *self.ids.entry(std::ptr::from_ref(value)).or_insert(next);
        if id == next {
            let names_itself = value.as_object().is_some_and(|map| identifier(map).is_some());
            let base = if names_itself { value } else { outer };
            self.nodes.push(Node { cost: 1, ..Node::default() });
            self.queue.push((id, (value, base)));
        }
        id
    }

    fn expand(&mut self, id: NodeId, schema: &'a Map<String, Value>, place: Place<'a>) -> Result<(), SchemaError> {
        let base = place.1;
        let mut node = Node::default();
        for (keyword, value) in schema {
            node.cost += 1;
            match keyword.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    let Some(reference) = value.as_str() else { continue };
                    let targets = self.resolve(keyword, reference, base);
                    if targets.is_empty() {
                        return Err(SchemaError::Reference {
                            pointer: self.pointer_to(value),
                            reference: text::name(reference),
                        });
                    }
                    node.in_place.extend(targets.into_iter().map(|target| self.node(target)));
                }
                "allOf" => node.in_place.extend(self.list(value, base)),
                "anyOf" | "oneOf" => node.alternatives.extend(self.list(value, base)),
                // A failed `not` carries a copy of its schema.
                "not" => {
                    node.cost += text::size(value);
                    node.in_place.push(self.node((value, base)));
                }
                "if" | "then" | "else" => node.in_place.push(self.node((value, base))),
                "dependentSchemas" | "dependencies" => {
                    node.cost += text::size(value);
                    node.in_place.extend(self.map(value, base).map(|(_, id)| id));
                }
                "properties" => {
                    node.properties = self.map(value, base).map(|(name, id)| (name.clone(), id)).collect();
                    node.cost += node.properties.len() as u64;
                }
                "patternProperties" => {
                    for (name, id) in self.map(value, base) {
                        node.name_states += 2 * pattern::states(name);
                        node.any_property.push(id);
                    }
                }
                "additionalProperties" => node.other_properties.push(self.node((value, base))),
                "unevaluatedProperties" => {
                    node.marks_properties = true;
                    node.any_property.push(self.node((value, base)));
                }
                "propertyNames" => node.names.push(self.node((value, base))),
                "items" if value.is_array() => node.prefix.extend(self.list(value, base)),
                "prefixItems" => node.prefix.extend(self.list(value, base)),
                "items" | "additionalItems" | "contains" => node.any_item.push(self.node((value, base))),
                "unevaluatedItems" => {
                    node.marks_items = true;
                    node.any_item.push(self.node((value, base)));
                }
                "pattern" => node.string_states += value.as_str().map_or(0, pattern::states),
                "uniqueItems" => node.unique = value == &Value::Bool(true),
                "enum" | "const" | "required" | "dependentRequired" => node.cost += text::size(value),
                _ if value.is_number() => node.cost += text::size(value),
                _ => {}
            }
        }
        self.nodes[id] = node;
        Ok(())
    }

    fn list(&mut self, value: &'a Value, base: &'a Value) -> Vec<NodeId> {
        let schemas = value.as_array().map_or(&[][..], Vec::as_slice);
        schemas.iter().map(|schema| self.node((schema, base))).collect()
    }

    fn map(&mut self, value: &'a Value, base: &'a Value) -> impl Iterator<Item = (&'a String, NodeId)> {
        let schemas = value.as_object().into_iter().flatten();
        schemas.map(move |(name, schema)| (name, self.node((schema, base))))
    }

    /// Everything that a reference may mean, all of it inside the document; nothing if it leads outside.
    fn resolve(&self, keyword: &str, reference: &str, base: &'a Value) -> Vec<Place<'a>> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let roots: Vec<&Value> = if keyword == "$recursiveRef" {
            // It moves outwards to any resource with `$recursiveAnchor`.
            let resources = self.resources.iter().map(|(_, root)| *root);
            resources.chain([self.document]).collect()
        } else if uri.is_empty() {
            vec![base]
        } else {
            let resources = self.resources.iter();
            resources.filter(|(id, _)| last_segment(id) == last_segment(uri)).map(|(_, root)| *root).collect()
        };
        let fragment = percent_decoded(fragment);
        if fragment.is_empty() {
            return roots.into_iter().map(|root| (root, root)).collect();
        }
        if fragment.starts_with('/') {
            return roots.into_iter().filter_map(|root| at_pointer(root, &fragment)).collect();
        }
        let anchored = self.anchors.get(fragment.as_str()).cloned().unwrap_or_default();
        if roots.is_empty() { Vec::new() } else { anchored }
    }

    /// Where a value of the document is, for messages.
    fn pointer_to(&self, wanted: &Value) -> String {
        let mut open = vec![(self.document, String::new())];
        while let Some((value, pointer)) = open.pop() {
            if std::ptr::eq(value, wanted) {
                return text::pointer(&pointer);
            }
            match value {
                Value::Object(map) => open.extend(map.iter().map(|(key, child)| (child, text::join(&pointer, key)))),
                Value::Array(items) => {
                    open.extend(items.iter().enumerate().map(|(idx, child)| (child, format!("{pointer}/{idx}"))));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        String::new()
    }
}
