// The official TypeScript SDK, version 2, in the era given as an argument.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { makeCalls } from "./make_calls.mjs";

const mode = process.argv[2];
const client = new Client({ name: "typescript-v2", version: "1" }, { versionNegotiation: { mode } });
await makeCalls(client, StdioClientTransport);
