//! What kind of image is it, by its name?

/// File extensions of images and their media types.
const PICTURES: [(&str, &str); 13] = [
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("gif", "image/gif"),
    ("heic", "image/heic"),
    ("ico", "image/vnd.microsoft.icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("jxl", "image/jxl"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("webp", "image/webp"),
];

/// The media type of an image with this path, if its extension tells.
pub(crate) fn mime_of_path(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    PICTURES.iter().find(|(e, _)| ending.eq_ignore_ascii_case(e)).map(|(_, mime)| *mime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_the_last_segment_tells() {
        assert_eq!(mime_of_path("/a/logo.PNG"), Some("image/png"));
        assert_eq!(mime_of_path("/a.png/logo"), None);
        assert_eq!(mime_of_path("/photo.php"), None);
    }
}
