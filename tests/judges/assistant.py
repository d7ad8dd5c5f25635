"""Asks a server as the official client of the Model Context Protocol does, and prints what it heard as JSON.

assistant.py CALLS http URL TOKEN
assistant.py CALLS stdio PROGRAM ARGUMENT...

CALLS is a file with {"tools": [[name, arguments], ...], "resources": [uri, ...]}.
"""
import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


def server(how, where):
    if how == "stdio":
        return StdioServerParameters(command=where[0], args=where[1:])
    client = httpx2.AsyncClient(headers={"Authorization": "Bearer " + where[1]})
    return streamable_http_client(where[0], http_client=client)


async def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        wanted = json.load(stream)
    async with Client(server(sys.argv[2], sys.argv[3:])) as client:
        heard = {"version": client.protocol_version, "calls": [], "resources": []}
        heard["tools"] = [tool.model_dump(mode="json") for tool in (await client.list_tools()).tools]
        heard["listed"] = [str(one.uri) for one in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
        heard["templates"] = [one.uri_template for one in templates]
        for name, arguments in wanted["tools"]:
            result = await client.call_tool(name, arguments)
            heard["calls"].append([name, result.is_error, [part.text for part in result.content]])
        for uri in wanted["resources"]:
            read = (await client.read_resource(uri)).contents[0]
            heard["resources"].append([uri, read.mime_type, read.text])
    print(json.dumps(heard))


asyncio.run(main())
