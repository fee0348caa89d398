// The official TypeScript SDK, version 1.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { makeCalls } from "./make_calls.mjs";

await makeCalls(new Client({ name: "typescript-v1", version: "1" }), StdioClientTransport);
