//! In which code page is the text of a font?

/// The code page of a font's character set.
pub(super) fn page_of_charset(charset: i32) -> Option<u32> {
    Some(match charset {
        0 => 1252,
        77 => 10_000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}
