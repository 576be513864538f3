//! What `wit-bindgen` makes of `wit/`. Apart, because it is the only code here that is generated and the only `unsafe`
//! code. Its data types are used on every target; its functions only in WebAssembly (see `imports`).

wit_bindgen::generate!({
    path: "wit",
    world: "full-plugin",
    pub_export_macro: true,
    export_macro_name: "export_component",
});
