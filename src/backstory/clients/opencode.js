// Put here by `backstory install opencode`; `backstory uninstall opencode` takes it away.
// It tells each session of this project where the work stands. Whatever is wrong, it is silent.
// A system text is not part of the conversation, so a session that is opened again gets it again.
import { execFile } from "node:child_process"

const [PROGRAM, ...WORDS] = [/* the hook */]

const TITLE = /title generator/i // the request that names a session needs no memory

function ask(directory, session) {
  return new Promise((resolve) => {
    const child = execFile(PROGRAM, WORDS, { timeout: 5000 }, (error, stdout) => resolve(error ? "" : stdout.trim()))
    child.stdin?.on("error", () => {})
    child.stdin?.end(JSON.stringify({ cwd: directory, source: "clear", session_id: session }))
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
      if (!session || output.system.some((text) => TITLE.test(text))) return
      if (!briefs.has(session)) briefs.set(session, ask(directory, session))
      const text = await briefs.get(session)
      if (text) output.system.push(text)
    },
  }
}
