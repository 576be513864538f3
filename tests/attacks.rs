//! What hostile plugins try, one sentence each. Every attack is refused in words, leaves the next call unharmed, and succeeds
//! once the grant is there: so it was the missing right that stopped it.

// Rights of the session: other tools, the conversation, the model, variables.
mod rights;

// Many at once.
mod crowd;
