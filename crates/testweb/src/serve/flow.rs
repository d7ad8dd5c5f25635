//! How are responses sent that are too long, in bytes or in time, to be generated beforehand?

use super::connection::Connection;
use crate::press::{BOMB, MIDDLES};
use crate::reply::{Flow, Torrent};
use rustix::net::{Shutdown, shutdown};
use std::io::Error;
use std::time::Duration;

const LARGE: usize = 11 << 20;
const LONG_HEADER: usize = 8 << 20;
/// Number of pages in the sitemap.
const LISTED: u32 = 10_000_000;

/// Runs a stream until it ends or the client disconnects.
pub(super) async fn run(connection: &Connection, flow: Flow) -> Result<(), Error> {
    match flow {
        Flow::Hang => hang(connection).await,
        Flow::Drip => drip(connection).await,
        Flow::Endless => endless(connection).await,
        Flow::Bomb => bomb(connection).await,
        Flow::Headers => headers(connection).await,
        Flow::LongHeader => long_header(connection).await,
        Flow::Large => large(connection).await,
        Flow::Forever(torrent) => forever(connection, torrent).await,
        Flow::Reset(bytes) => reset(connection, bytes).await,
        Flow::Linger(bytes) => {
            connection.send(bytes).await?;
            hang(connection).await
        }
        Flow::Sitemap => sitemap(connection).await,
    }
}

/// Shuts down the write side and drains the client's input: closing at once would reset the
/// connection and lose the response.
pub(super) async fn linger(connection: &Connection) -> Result<(), Error> {
    shutdown(&*connection.socket, Shutdown::Write)?;
    tokio::time::timeout(Duration::from_secs(1), hang(connection)).await.unwrap_or(Ok(()))
}

/// Sends nothing until the client has disconnected.
async fn hang(connection: &Connection) -> Result<(), Error> {
    let mut ignored = [0; 1_024];
    loop {
        connection.socket.readable().await?;
        match connection.socket.try_read(&mut ignored) {
            Ok(0) => return Ok(()),
            Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
    }
}

async fn drip(connection: &Connection) -> Result<(), Error> {
    let page = "<!doctype html><title>Patience</title><p>This page comes a few bytes at a time.</p>\n";
    let length = page.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
    for bytes in [head.as_bytes(), page.as_bytes()].concat().chunks(4) {
        connection.send(bytes).await?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

async fn endless(connection: &Connection) -> Result<(), Error> {
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<!doctype html><title>Endless</title>").await?;
    let block = b"<p>And so on.</p>\n".repeat(1_000);
    loop {
        connection.send(&block).await?;
        tokio::task::yield_now().await;
    }
}

async fn bomb(connection: &Connection) -> Result<(), Error> {
    let bomb = &*BOMB;
    let length = bomb.head.len() + bomb.middle.len() * MIDDLES + bomb.end.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    connection.send(&[head.as_bytes(), bomb.head].concat()).await?;
    let sixteen = bomb.middle.repeat(16);
    for _ in 0..MIDDLES / 16 {
        connection.send(&sixteen).await?;
    }
    connection.send(&bomb.end).await
}

async fn headers(connection: &Connection) -> Result<(), Error> {
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n").await?;
    let block = b"X-More: and more\r\n".repeat(1_000);
    loop {
        connection.send(&block).await?;
        tokio::task::yield_now().await;
    }
}

async fn long_header(connection: &Connection) -> Result<(), Error> {
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nX-Long: ").await?;
    let block = vec![b'x'; 1 << 15];
    for _ in 0..LONG_HEADER >> 15 {
        connection.send(&block).await?;
    }
    connection.send(b"\r\nContent-Length: 12\r\n\r\n<p>Long.</p>").await
}

async fn large(connection: &Connection) -> Result<(), Error> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\nContent-Length: {LARGE}\r\n\r\n"
    );
    connection.send(head.as_bytes()).await?;
    let block = vec![b'\n'; 1 << 16];
    for _ in 0..LARGE >> 16 {
        connection.send(&block).await?;
    }
    Ok(())
}

async fn forever(connection: &Connection, torrent: &Torrent) -> Result<(), Error> {
    connection.send(torrent.head).await?;
    if torrent.slowly {
        loop {
            connection.send(torrent.block).await?;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
    let block = torrent.block.repeat(1 + (1 << 14) / torrent.block.len().max(1));
    loop {
        connection.send(&block).await?;
        tokio::task::yield_now().await;
    }
}

async fn reset(connection: &Connection, bytes: &[u8]) -> Result<(), Error> {
    connection.send(bytes).await?;
    connection.socket.set_zero_linger()
}

async fn sitemap(connection: &Connection) -> Result<(), Error> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nTransfer-Encoding: chunked\r\n\r\n";
    connection.send(head.as_bytes()).await?;
    let mut chunk = String::from("<?xml version=\"1.0\"?><urlset>");
    for number in 0..LISTED {
        let host = &connection.host;
        chunk += &format!("<url><loc>http://{host}/many/{number}</loc></url>\n");
        if chunk.len() > 1 << 16 || number + 1 == LISTED {
            connection.send(format!("{:x}\r\n{chunk}\r\n", chunk.len()).as_bytes()).await?;
            chunk.clear();
            tokio::task::yield_now().await;
        }
    }
    connection.send(b"0\r\n\r\n").await
}
