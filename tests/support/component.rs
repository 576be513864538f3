//! Small plugins as WebAssembly text: what no compiler would write, a test can.
//!
//! Apart, because the layout of a record in memory is the canonical ABI's business and nobody else's.

/// A plugin that exports `manifest`, and `tools` if it has one: its name, its tool, and code in the places that can go wrong.
#[derive(Clone)]
pub struct PluginText {
    /// What `describe` answers.
    pub name: String,
    /// The one tool; none for a plugin without `tools`.
    pub tool: Option<String>,
    /// What the tool answers; none for `{"from": "NAME"}`.
    pub answer: Option<String>,
    /// The tool's JSON Schema.
    pub schema: String,
    /// Instructions at the start of `describe`.
    pub in_describe: String,
    /// Instructions at the start of `list-tools`.
    pub in_list_tools: String,
    /// Instructions of the start function; none for no start function.
    pub in_start: Option<String>,
    /// How often `list-tools` lists the tool.
    pub copies: usize,
    /// How many tools `list-tools` says there are, if that is a lie.
    pub claimed: Option<u32>,
    /// An interface, and a function of it without parameters, that it imports.
    pub import: Option<(&'static str, &'static str)>,
    /// Whether it imports a clock: `(call $sleep (i64.const NANOSECONDS))`.
    pub clock: bool,
    /// Whether it logs `asked who it is` in `describe`.
    pub log_in_describe: bool,
    /// The version of the interface that it exports.
    pub version: String,
}

impl Default for PluginText {
    fn default() -> Self {
        Self {
            name: "text".into(),
            tool: None,
            answer: None,
            schema: r#"{"type":"object"}"#.into(),
            in_describe: String::new(),
            in_list_tools: String::new(),
            in_start: None,
            copies: 1,
            claimed: None,
            import: None,
            clock: false,
            log_in_describe: false,
            version: "0.1.0".into(),
        }
    }
}

impl PluginText {
    /// A plugin with one tool.
    pub fn with_tool(name: &str, tool: &str) -> Self {
        Self { name: name.into(), tool: Some(tool.into()), ..Self::default() }
    }

    /// Assembles the component.
    pub fn build(&self) -> Vec<u8> {
        let mut module = wat(&self.module());
        let mut resolve = wit_parser::Resolve::default();
        let package = resolve.push_str("text.wit", &self.world()).unwrap();
        let world = resolve.select_world(&[package], Some("text-plugin")).unwrap();
        let encoding = wit_component::StringEncoding::UTF8;
        wit_component::embed_component_metadata(&mut module, &resolve, world, encoding).unwrap();
        let encoder = wit_component::ComponentEncoder::default().validate(true).module(&module);
        encoder.and_then(|mut it| it.encode()).unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// The core module, with the names that the canonical ABI gives to exports.
    fn module(&self) -> String {
        let Self { name, in_describe, in_list_tools, version, .. } = self;
        let mut data = Data::default();
        let (name_at, name_len) = data.text(name);
        let (version_at, version_len) = data.text("1.0.0");
        let (about_at, about_len) = data.text("a plugin as text");
        // plugin-info: three strings, an empty list, the lifetime, no extra.
        let info = data.words(&[name_at, name_len, version_at, version_len, about_at, about_len, 0, 0, 0, 0, 0, 0]);
        let tools = match &self.tool {
            None => String::new(),
            Some(tool) => {
                let (tool_at, tool_len) = data.text(tool);
                let (doc_at, doc_len) = data.text("a tool as text");
                let (schema_at, schema_len) = data.text(&self.schema);
                let tool = [tool_at, tool_len, doc_at, doc_len, schema_at, schema_len, 0, 0];
                let tools = data.words(&tool.repeat(self.copies));
                let count = self.claimed.unwrap_or_else(|| u32::try_from(self.copies).unwrap());
                let list = data.words(&[tools, count]);
                let answer = self.answer.clone().unwrap_or_else(|| format!(r#"{{"from":"{name}"}}"#));
                let (answer_at, answer_len) = data.text(&answer);
                let answer = data.words(&[0, answer_at, answer_len]);
                format!(
                    r#"
  (func (export "bellglass:plugin/tools@{version}#list-tools") (result i32) {in_list_tools} i32.const {list})
  (func (export "bellglass:plugin/tools@{version}#call-tool") (param i32 i32 i32 i32) (result i32) i32.const {answer})"#
                )
            }
        };
        let start =
            self.in_start.as_ref().map(|code| format!("(func $start {code}) (start $start)")).unwrap_or_default();
        let import = match self.import {
            Some((interface, function)) => format!(r#"(import "{interface}" "{function}" (func))"#),
            None => String::new(),
        };
        let log = if self.log_in_describe { LOG } else { "" };
        let said = data.text("asked who it is");
        let in_log = if self.log_in_describe {
            format!("(call $log (i32.const 2) (i32.const {}) (i32.const {}))", said.0, said.1)
        } else {
            String::new()
        };
        let (clock, sleep) = if self.clock { (CLOCK, SLEEP) } else { ("", "") };
        let bytes = data.escaped();
        format!(
            r#"(module {import} {clock} {log}
  (memory (export "memory") 2)
  (global $top (mut i32) (i32.const 65536))
  (data (i32.const {BASE}) "{bytes}")
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    global.get $top
    (global.set $top (i32.and (i32.add (i32.add (global.get $top) (local.get 3)) (i32.const 15)) (i32.const -16))))
  (func (export "bellglass:plugin/manifest@{version}#describe") (result i32) {in_log} {in_describe} i32.const {info})
  {tools} {start} {sleep})"#
        )
    }

    /// The world that the module is built for: ours, in the version asked for.
    fn world(&self) -> String {
        let Self { version, .. } = self;
        let tools = if self.tool.is_some() { "export tools;" } else { "" };
        let (packages, import) = match self.import {
            None => (String::new(), String::new()),
            Some((interface, function)) => {
                let (package, rest) = interface.split_once('/').unwrap();
                let (name, of) = rest.split_once('@').unwrap();
                let body = format!("interface {name} {{ {function}: func(); }}");
                if package == "bellglass:plugin" {
                    (String::new(), format!("{body}\nworld text-plugin {{ import {name};"))
                } else {
                    (
                        format!("package {package}@{of} {{ {body} }}"),
                        format!("world text-plugin {{ import {interface};"),
                    )
                }
            }
        };
        let (log, log_wit) = if self.log_in_describe { ("import log;", LOG_WIT) } else { ("", "") };
        let world = if import.is_empty() { "world text-plugin {".to_owned() } else { import };
        let (clock, packages) = if self.clock {
            ("import wasi:io/poll@0.2.0; import wasi:clocks/monotonic-clock@0.2.0;", format!("{packages}{CLOCK_WIT}"))
        } else {
            ("", packages)
        };
        format!(
            "package bellglass:plugin@{version};
interface types {{
  type json = string;
  record tool-definition {{ name: string, description: string, parameters: json, aliases: list<string> }}
}}
interface manifest {{
  use types.{{json}};
  record credential {{ secret: string, origin: string, header: string, prefix: string }}
  variant capability {{
    read(string), write(string), http(string), credential(credential), run(string), call-tool(string), env(string),
    conversation, model, session-control,
  }}
  record capability-request {{ capability: capability, reason: string }}
  enum lifetime {{ call, session }}
  record plugin-info {{
    name: string, version: string, description: string, capabilities: list<capability-request>, lifetime: lifetime,
    extra: option<json>,
  }}
  describe: func() -> plugin-info;
}}
interface tools {{
  use types.{{json, tool-definition}};
  list-tools: func() -> list<tool-definition>;
  call-tool: func(name: string, arguments: json) -> result<json, string>;
}}
{log_wit}
{world} {clock} {log} export manifest; {tools} }}
{packages}"
        )
    }
}

const CLOCK: &str = r#"
  (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $subscribe (param i64) (result i32)))
  (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))"#;

const LOG: &str = r#"(import "bellglass:plugin/log@0.1.0" "log" (func $log (param i32 i32 i32)))"#;

const LOG_WIT: &str =
    "interface log { enum level { trace, debug, info, warn, error } log: func(level: level, message: string); }";

const SLEEP: &str = "(func $sleep (param i64) (call $block (call $subscribe (local.get 0))))";

const CLOCK_WIT: &str = "
package wasi:io@0.2.0 { interface poll { resource pollable { block: func(); } } }
package wasi:clocks@0.2.0 {
  interface monotonic-clock {
    use wasi:io/poll@0.2.0.{pollable};
    subscribe-duration: func(when: u64) -> pollable;
  }
}";

/// Assembles WebAssembly text.
#[track_caller]
pub fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Where a module's static data begins.
const BASE: u32 = 1024;

/// Static data of a module.
#[derive(Default)]
struct Data(Vec<u8>);

impl Data {
    /// Adds text; its address and length.
    fn text(&mut self, text: &str) -> (u32, u32) {
        (self.bytes(text.as_bytes()), u32::try_from(text.len()).unwrap())
    }

    /// Adds words; their address.
    fn words(&mut self, words: &[u32]) -> u32 {
        let bytes: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
        self.bytes(&bytes)
    }

    fn bytes(&mut self, bytes: &[u8]) -> u32 {
        let at = BASE + u32::try_from(self.0.len()).unwrap();
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        at
    }

    fn escaped(&self) -> String {
        self.0.iter().map(|it| format!("\\{it:02x}")).collect()
    }
}
