//! Servers that answer what a test prepared, in order.

use crate::{
    Capability,
    http::{Error, Failed, Head, Request, split},
    test::{script::Piece, world},
};
use std::vec;

/// The rest of a body.
pub(crate) struct Body(vec::IntoIter<Piece>);

pub(crate) fn send(request: &Request) -> Result<(Head, Body), Error> {
    let (scheme, authority, path) = split(&request.url)?;
    let origin = format!("{scheme}://{authority}");
    let is_configured = world::with(|world| world.configured.contains(&origin));
    if !is_configured {
        let denied = |message| Error::new(Failed::Denied, message);
        world::need(&format!("http={origin}"), |asked| match asked {
            Capability::Http(asked) => *asked == origin,
            _ => false,
        })
        .map_err(denied)?;
    }
    world::with(|world| world.requests.push(request.clone()));
    let Some(exchange) = world::with(|world| world.exchanges.pop_front()) else {
        return Err(Error::new(Failed::Connect, format!("nothing answers at {authority}")));
    };
    if let Err(difference) = exchange.check(request.method, path, &request.body) {
        panic!("{difference}");
    }
    let answer = exchange.answer;
    let headers = answer.headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    Ok((Head { status: answer.status, headers }, Body(answer.pieces.into_iter())))
}

impl Body {
    pub(crate) fn next_piece(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let next = self.0.find(|piece| !matches!(piece, Piece::Bytes(bytes) if bytes.is_empty()));
        match next {
            Some(Piece::Bytes(bytes)) => Ok(Some(bytes)),
            Some(Piece::Broken) => {
                Err(Error::new(Failed::Broken, "the server ended the connection before the answer was whole"))
            }
            Some(Piece::Silent) => Err(Error::new(Failed::Timeout, "the server stayed silent for too long")),
            None => Ok(None),
        }
    }
}
