// Standard input: a TOON document as a JSON string on each line. Standard output: what it decodes to, as JSON.
import { createInterface } from "node:readline";
import { decode } from "@toon-format/toon";

for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(decode(JSON.parse(line))));
