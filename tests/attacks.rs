//! What hostile plugins try, one sentence each. Every attack is refused in words, leaves the next call unharmed, and succeeds
//! once the grant is there: so it was the missing right that stopped it.

// Servers that nobody granted, and ways around the rules.
mod network;

// Secrets of the user.
mod credentials;
// Rights of the session: other tools, the conversation, the model, variables.
mod rights;

// Programs beyond the grant.
mod programs;

// Many at once.
mod crowd;

// Files.
mod files;
