//! How much work a regular expression may be.
//!
//! The linear-time engine takes at most one step a state and byte; the number of states is what counted repetitions make it.

/// Upper estimate of the states of a compiled pattern: its items, each as often as its counted repetitions say.
pub(super) fn states(pattern: &str) -> u64 {
    let mut groups: Vec<u64> = Vec::new();
    let mut sum: u64 = 0;
    // Of the last item, which a repetition that follows multiplies.
    let mut item: u64 = 0;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        let next = match c {
            '(' => {
                groups.push(sum.saturating_add(item));
                (sum, item) = (0, 0);
                continue;
            }
            ')' => {
                let inner = sum.saturating_add(item).max(1);
                sum = groups.pop().unwrap_or(0);
                item = inner;
                continue;
            }
            '{' => {
                let count: String = chars.by_ref().take_while(|c| *c != '}').collect();
                let largest = count.split(',').filter_map(|n| n.trim().parse::<u64>().ok()).max();
                item = item.saturating_mul(largest.unwrap_or(1).max(1));
                continue;
            }
            '[' => {
                while let Some(c) = chars.next() {
                    match c {
                        '\\' => drop(chars.next()),
                        ']' => break,
                        _ => {}
                    }
                }
                1
            }
            '\\' => {
                chars.next();
                1
            }
            _ => 1,
        };
        sum = sum.saturating_add(item);
        item = next;
    }
    groups.into_iter().fold(sum.saturating_add(item), u64::saturating_add).max(1)
}

/// What a pattern uses that only a backtracking engine can do.
pub(super) fn backtracking(pattern: &str) -> Option<&'static str> {
    if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|open| pattern.contains(open)) {
        return Some("look-around");
    }
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && matches!(chars.next(), Some('1'..='9' | 'k')) {
            return Some("a back-reference");
        }
    }
    None
}
