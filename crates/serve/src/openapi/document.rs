//! What does the whole document say?

use super::shape::{AskedField, RouteShape};
use crate::routes::{Right, RouteRow, table};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The version of the format.
const FORMAT: &str = "3.1.0";

/// The document.
pub(crate) fn document() -> Value {
    let settings = || SchemaSettings::draft2020_12().with(|s| s.definitions_path = "/components/schemas".into());
    let mut sent = settings().for_serialize().into_generator();
    let mut taken = settings().for_deserialize().into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for row in table() {
        let Some(shape) = row.shape else { continue };
        let path = paths.entry(row.path).or_insert_with(|| json!({}));
        path[row.verb.name().to_lowercase()] = operation(row, &shape, &mut sent, &mut taken);
    }
    let mut schemas = Map::new();
    schemas.extend(taken.take_definitions(true));
    schemas.extend(sent.take_definitions(true));
    schemas.insert("ProblemDetails".to_owned(), problem());
    let about = "Reads what a home of Orbweaver has collected. Names are those that the commands print with --json. \
                 Lists come in parts: `next` is what to send as `after`, and the Link field names the next part.";
    json!({
        "openapi": FORMAT,
        "info": {"title": "Orbweaver", "version": env!("CARGO_PKG_VERSION"), "description": about},
        "security": [{"token": []}, {"session": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "A token of orb user token"},
                "session": {"type": "apiKey", "in": "cookie", "name": "orb", "description": "A log-in"},
            },
        },
    })
}

/// A row as an operation.
fn operation(row: &RouteRow, shape: &RouteShape, sent: &mut SchemaGenerator, taken: &mut SchemaGenerator) -> Value {
    let in_path = row.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<Value> = in_path.map(path_parameter).collect();
    parameters.extend(shape.fields().map(|field| query_parameter(&field)));
    parameters.extend(shape.headers.iter().map(|(name, about)| header_parameter(name, about)));
    let mut content = Map::new();
    if let Some(gives) = shape.gives {
        content.insert("application/json".to_owned(), json!({"schema": gives(sent)}));
    }
    content.extend(shape.media.iter().map(|media| ((*media).to_owned(), json!({}))));
    let mut success = json!({"description": row.summary});
    if !content.is_empty() {
        success["content"] = Value::Object(content);
    }
    let failure = json!({
        "description": "Why there is no answer (RFC 9457)",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
    });
    let mut operation = json!({
        "summary": row.summary,
        "description": format!("Takes the right {}.", row.right.name()),
        "operationId": operation_id(row),
        "parameters": parameters,
        "responses": {shape.status.to_string(): success, "default": failure},
    });
    for (status, about) in shape.also {
        operation["responses"][status.to_string()] = json!({"description": about});
    }
    if let Some(takes) = shape.takes {
        let body = json!({"required": true, "content": {"application/json": {"schema": takes(taken)}}});
        operation["requestBody"] = body;
    }
    if row.right == Right::Open {
        operation["security"] = json!([]);
    }
    operation
}

/// A name for the functions of generated clients: the method and the words of the path.
fn operation_id(row: &RouteRow) -> String {
    let path = row.path.trim_start_matches("/api/v1");
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once(row.verb.name().to_lowercase().as_str()).chain(words).collect::<Vec<_>>().join("_")
}

fn path_parameter(name: &str) -> Value {
    let (kind, about) = match name {
        "p" => ("string", "The project"),
        "id" => ("integer", "Its number"),
        "n" => ("integer", "The run"),
        _ => ("string", "Its name"),
    };
    json!({"name": name, "in": "path", "required": true, "description": about, "schema": {"type": kind}})
}

fn query_parameter(field: &AskedField) -> Value {
    let AskedField { name, about, is_needed, .. } = *field;
    json!({"name": name, "in": "query", "required": is_needed, "description": about, "schema": field.schema()})
}

fn header_parameter(name: &str, about: &str) -> Value {
    json!({"name": name, "in": "header", "required": false, "description": about, "schema": {"type": "string"}})
}

/// The schema of failures.
fn problem() -> Value {
    json!({
        "type": "object",
        "description": "Why a request failed (RFC 9457); some kinds have more members.",
        "required": ["type", "title", "status", "detail", "instance"],
        "properties": {
            "type": {"type": "string", "description": "The kind of problem"},
            "title": {"type": "string", "description": "The kind in words"},
            "status": {"type": "integer", "description": "The status of the response"},
            "detail": {"type": "string", "description": "This one in words"},
            "instance": {"type": "string", "description": "The path that was asked for"},
        },
    })
}
