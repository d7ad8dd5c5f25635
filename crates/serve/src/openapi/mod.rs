//! How is the API described to programs?
//!
//! As OpenAPI 3.1, whose schemas are JSON Schema 2020-12, which is what `schemars` derives: the
//! document is made from the route table and the types of the answers, and cannot drift from
//! either. A row of the table says with a [`RouteShape`] what goes in and out; a test wants one of
//! every row of the API.

mod document;
mod shape;

pub(crate) use document::document;
pub(crate) use shape::{AskedField, AskedHeaders, PART, PARTS, RouteShape, UNCHANGED, VERSIONS};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::table;

    #[test]
    fn every_route_of_the_api_says_what_goes_in_and_out() {
        for row in table().filter(|row| row.path.starts_with("/api/v1")) {
            assert!(row.shape.is_some(), "{} {} has no shape", row.verb.name(), row.path);
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document();
        let text = document.to_string();
        let known = document["components"]["schemas"].as_object().unwrap();
        let mut count = 0;
        for reference in text.split("\"$ref\":\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let name = reference.strip_prefix("#/components/schemas/").unwrap_or_else(|| panic!("{reference}"));
            assert!(known.contains_key(name), "{reference}");
            count += 1;
        }
        assert!(count > 50, "only {count} references");
    }
}
