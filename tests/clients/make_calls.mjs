// Standard input: {server: {command, args, env}, calls: [{name, arguments}]}. Standard output: {tools, answers}.
// A client that listed the tools checks every answer against the output schema, and throws when it does not fit.
import { text } from "node:stream/consumers";

export async function makeCalls(client, Transport) {
  const { server, calls } = JSON.parse(await text(process.stdin));
  await client.connect(new Transport(server));
  const { tools } = await client.listTools();
  const answers = [];
  for (const call of calls) answers.push(await client.callTool(call));
  await client.close();
  console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), answers }));
}
