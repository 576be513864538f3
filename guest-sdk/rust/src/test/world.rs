//! What the doubles know and remember: the state of the host that a test stands in for.

use crate::{
    Capability, Lifetime, Message, Setup,
    bindings::bellglass::plugin::{process::Output, reply::Event},
    http::Request,
    test::script::Exchange,
};
use serde_json::Value;
use std::{
    cell::RefCell,
    collections::{BTreeMap, VecDeque},
    rc::Rc,
};

/// A tool that stands in for another plugin's.
pub(super) type StandIn = Rc<dyn Fn(&Value) -> Value>;

pub(crate) struct World {
    setup: Rc<dyn Fn(&mut Setup)>,
    /// The one instance of a plugin that lives as long as the session.
    lasting: Option<Rc<Setup>>,
    /// Whether that instance is on the chain of calls now.
    pub(super) entered: bool,
    pub(super) granted: Option<Vec<Capability>>,
    pub(super) tools: Vec<(String, StandIn)>,
    pub(crate) shown: String,
    pub(crate) logged: Vec<String>,
    pub(crate) answers: VecDeque<String>,
    pub(crate) conversation: Vec<Message>,
    pub(crate) replies: VecDeque<String>,
    pub(crate) providers: Vec<String>,
    pub(crate) provider: (String, Option<String>),
    pub(crate) programs: Vec<(String, Output)>,
    pub(crate) stored: BTreeMap<String, Vec<u8>>,
    pub(crate) settings: Value,
    pub(crate) secrets: Vec<String>,
    pub(crate) events: Vec<Event>,
    /// What servers are going to be asked, and answer.
    pub(crate) exchanges: VecDeque<Exchange>,
    pub(crate) requests: Vec<Request>,
    /// The origin that the user's options name.
    pub(crate) configured: Vec<String>,
    pub(crate) reloads: usize,
    pub(crate) exits: usize,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<RefCell<World>>>> = const { RefCell::new(None) };
}

/// Makes this the world that imports reach on this thread.
pub(super) fn enter(world: &Rc<RefCell<World>>) {
    CURRENT.set(Some(Rc::clone(world)));
}

/// The world that imports reach. No borrow of it may last while code of the plugin runs.
pub(super) fn current() -> Rc<RefCell<World>> {
    CURRENT.with_borrow_mut(|current| {
        let nobody = || Rc::new(RefCell::new(World::new(|_| {})));
        Rc::clone(current.get_or_insert_with(nobody))
    })
}

/// Looks at the current world or changes it.
pub(super) fn with<T>(act: impl FnOnce(&mut World) -> T) -> T {
    act(&mut current().borrow_mut())
}

impl World {
    pub(super) fn new(setup: impl Fn(&mut Setup) + 'static) -> Self {
        Self {
            setup: Rc::new(setup),
            lasting: None,
            entered: false,
            granted: None,
            tools: Vec::new(),
            shown: String::new(),
            logged: Vec::new(),
            answers: VecDeque::new(),
            conversation: Vec::new(),
            replies: VecDeque::new(),
            providers: vec!["stub".to_owned()],
            provider: ("stub".to_owned(), None),
            programs: Vec::new(),
            stored: BTreeMap::new(),
            settings: Value::Object(serde_json::Map::new()),
            secrets: Vec::new(),
            events: Vec::new(),
            exchanges: VecDeque::new(),
            requests: Vec::new(),
            configured: Vec::new(),
            reloads: 0,
            exits: 0,
        }
    }

    pub(super) fn show(&mut self, text: &str) {
        self.shown.push_str(text);
    }

    /// The next line that somebody types.
    pub(super) fn answer(&mut self) -> Option<String> {
        self.answers.pop_front()
    }
}

/// A fresh instance of the plugin.
pub(super) fn fresh() -> Rc<Setup> {
    let setup = with(|world| Rc::clone(&world.setup));
    let mut plugin = Setup::new("plugin", "0.0.0", "");
    setup(&mut plugin);
    Rc::new(plugin)
}

/// Calls the instance that runs tools and commands: a fresh one, or the session's.
pub(super) fn instance<T>(call: impl FnOnce(&Setup) -> T) -> Result<T, String> {
    let plugin = fresh();
    if plugin.lifetime() == Lifetime::Call {
        return Ok(call(&plugin));
    }
    if with(|world| std::mem::replace(&mut world.entered, true)) {
        return Err("the plugin is waiting for this call".to_owned());
    }
    let plugin = with(|world| Rc::clone(world.lasting.get_or_insert(plugin)));
    let answer = call(&plugin);
    with(|world| world.entered = false);
    Ok(answer)
}

/// Whether the plugin asked for what `fits` and has it.
pub(super) fn has(fits: impl Fn(&Capability) -> bool) -> bool {
    let plugin = fresh();
    let granted = with(|world| world.granted.clone());
    plugin
        .asked()
        .iter()
        .any(|(asked, _)| fits(asked) && granted.as_ref().is_none_or(|granted| granted.contains(asked)))
}

/// As [`has`], with the sentence that the host would say.
pub(super) fn need(what: &str, fits: impl Fn(&Capability) -> bool) -> Result<(), String> {
    if has(fits) { Ok(()) } else { Err(format!("denied: this plugin has no grant `{what}`")) }
}
