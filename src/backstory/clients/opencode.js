// Put here by `backstory install opencode`; `backstory uninstall opencode` takes it away.
// It tells each session of this project where the work stands. Whatever is wrong, it is silent.
import { execFile } from "node:child_process"

const [PROGRAM, ...WORDS] = [/* the hook */]

function ask(directory) {
  return new Promise((resolve) => {
    const child = execFile(PROGRAM, WORDS, { timeout: 2000 }, (error, stdout) => resolve(error ? "" : stdout.trim()))
    child.stdin?.on("error", () => {})
    child.stdin?.end(JSON.stringify({ cwd: directory, source: "startup" }))
  }).catch(() => "")
}

export const Backstory = async ({ directory }) => {
  const briefs = new Map()
  return {
    event: async ({ event }) => {
      const session = event.properties?.info
      if (event.type === "session.created" && session?.parentID) briefs.set(session.id, Promise.resolve(""))
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID
      if (!session) return
      if (!briefs.has(session)) briefs.set(session, ask(directory))
      const text = await briefs.get(session)
      if (text) output.system.push(text)
    },
  }
}
