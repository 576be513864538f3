//! The interface in `wit/`: strangers read it, so nothing in it is without a sentence.

use std::path::Path;

use wit_parser::{Docs, Resolve, TypeDefKind, TypeOwner};

#[test]
fn every_item_of_the_interface_is_documented() {
    let mut resolve = Resolve::default();
    resolve.push_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit")).unwrap();
    let mut bare = Vec::new();
    let mut check = |item: String, docs: &Docs| {
        if docs.contents.is_none() {
            bare.push(item);
        }
    };
    for (_, package) in resolve.packages.iter() {
        check(package.name.to_string(), &package.docs);
    }
    for (_, world) in resolve.worlds.iter() {
        check(world.name.clone(), &world.docs);
    }
    for (_, interface) in resolve.interfaces.iter() {
        let of = interface.name.as_deref().unwrap_or_default();
        check(of.to_owned(), &interface.docs);
        for (name, function) in &interface.functions {
            check(format!("{of}.{name}"), &function.docs);
        }
    }
    for (_, defined) in resolve.types.iter() {
        let (Some(name), TypeOwner::Interface(owner)) = (&defined.name, &defined.owner) else { continue };
        let name = format!("{}.{name}", resolve.interfaces[*owner].name.as_deref().unwrap_or_default());
        match &defined.kind {
            // `use types.{json}`: documented where it is defined.
            TypeDefKind::Type(wit_parser::Type::Id(_)) => continue,
            TypeDefKind::Record(record) => {
                record.fields.iter().for_each(|it| check(format!("{name}.{}", it.name), &it.docs));
            }
            TypeDefKind::Variant(variant) => {
                variant.cases.iter().for_each(|it| check(format!("{name}.{}", it.name), &it.docs));
            }
            TypeDefKind::Enum(cases) => {
                cases.cases.iter().for_each(|it| check(format!("{name}.{}", it.name), &it.docs));
            }
            _ => {}
        }
        check(name, &defined.docs);
    }
    assert_eq!(bare, Vec::<String>::new());
}
