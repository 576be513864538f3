//! The prompt of `ask`: the words of the command line, and what is piped in.
//!
//! Apart, because an open pipe that says nothing must not hold up a prompt that is there.

use std::io::{IsTerminal as _, Read as _};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::cli::Usage;

/// How long a pipe that nobody mentioned may stay silent. A prompt is there: it must not wait for ever for more.
const SILENCE: Duration = Duration::from_secs(1);

/// Longest text that is read from standard input, in bytes; more fits no model.
const INPUT: usize = 16 << 20;

/// What one read brought; empty at the end.
type Piece = std::io::Result<Vec<u8>>;

/// The words of the command line, and what is piped in.
pub(super) async fn prompt(words: &[String]) -> anyhow::Result<String> {
    let waits = words.iter().any(|it| it == "-") || words.is_empty();
    let words: Vec<&str> = words.iter().filter(|it| *it != "-").map(String::as_str).collect();
    let typed = words.join(" ");
    let piped = if std::io::stdin().is_terminal() { String::new() } else { piped(waits).await? };
    let parts: Vec<&str> = [typed.trim(), piped.trim()].into_iter().filter(|it| !it.is_empty()).collect();
    if parts.is_empty() {
        return Err(Usage("no prompt: give one (`bellglass ask 'what is here?'`), or pipe one in".into()).into());
    }
    Ok(parts.join("\n\n"))
}

/// Reads standard input on a thread of its own, since nothing can end a read that waits.
async fn piped(waits: bool) -> anyhow::Result<String> {
    let (pieces, received) = mpsc::channel::<Piece>(16);
    std::thread::spawn(move || {
        loop {
            let mut piece = vec![0; 64 << 10];
            let read = std::io::stdin().lock().read(&mut piece);
            let end = !matches!(read, Ok(n) if n > 0);
            let read = read.map(|n| {
                piece.truncate(n);
                piece
            });
            if pieces.blocking_send(read).is_err() || end {
                return;
            }
        }
    });
    gather(received, waits).await
}

/// Puts the pieces of the input together, to its end. When nobody asked for it and nothing comes for a while, it is left
/// alone.
async fn gather(mut received: mpsc::Receiver<Piece>, waits: bool) -> anyhow::Result<String> {
    let mut input = Vec::new();
    loop {
        // Once something has come, somebody pipes: half of it would be a wrong prompt.
        let next = if waits || !input.is_empty() {
            received.recv().await
        } else {
            match tokio::time::timeout(SILENCE, received.recv()).await {
                Ok(next) => next,
                Err(_) => {
                    let silence = crate::fault::seconds(SILENCE);
                    tracing::warn!("nothing came on standard input for {silence}: going on without; `-` waits for it");
                    break;
                }
            }
        };
        match next.transpose()? {
            None => break,
            Some(piece) if piece.is_empty() => break,
            Some(piece) => input.extend(piece),
        }
        if input.len() > INPUT {
            let limit = crate::fault::bytes(INPUT);
            return Err(Usage(format!("standard input is larger than {limit}")).into());
        }
    }
    Ok(String::from_utf8_lossy(&input).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends the pieces, each after a pause of so many seconds, and then keeps the pipe open or not.
    async fn gathered(pieces: &[(u64, &'static [u8])], stays_open: bool, waits: bool) -> anyhow::Result<String> {
        let (sender, received) = mpsc::channel(1);
        let send = async {
            for (pause, piece) in pieces {
                tokio::time::sleep(Duration::from_secs(*pause)).await;
                let _ = sender.send(Ok(piece.to_vec())).await;
            }
            if stays_open {
                std::future::pending::<()>().await;
            }
            drop(sender);
        };
        tokio::select! {
            gathered = gather(received, waits) => gathered,
            () = async { send.await; std::future::pending().await } => unreachable!(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_pipe_that_sends_nothing_is_left_alone_unless_it_was_asked_for() {
        assert_eq!(gathered(&[], true, false).await.unwrap(), "");
        assert_eq!(gathered(&[(60, b"late")], false, true).await.unwrap(), "late");
    }

    #[tokio::test(start_paused = true)]
    async fn once_something_has_come_all_of_it_counts_however_slowly_it_comes() {
        assert_eq!(gathered(&[(0, b"a"), (60, b"b")], false, false).await.unwrap(), "ab");
        assert_eq!(gathered(&[(0, b"\xe2\x82"), (0, b"\xac")], false, false).await.unwrap(), "\u{20ac}");
    }

    #[tokio::test]
    async fn more_than_fits_any_model_is_wrong_usage() {
        let piece: &[u8] = Vec::leak(vec![b'x'; INPUT]);
        let error = gathered(&[(0, piece), (0, b"x")], true, true).await.unwrap_err();
        assert_eq!(error.to_string(), "standard input is larger than 16 MiB");
    }
}
