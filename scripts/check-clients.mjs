// `npm run check:clients -- [NAME…]`: public clients of OpenAI's chat completions, all or the named ones, against a server
// with PRESAGE_CHAT_COMPATIBILITY=openai. Each is installed once, into node_modules/.cache.
import { bun, ensureInstalled } from "./ensure-installed.mjs";
import { runOrExit } from "./run-or-exit.mjs";

await ensureInstalled({ forDevelopment: true });
process.env.PRESAGE_TEST_CLIENTS = process.argv.slice(2).join(",") || "all";
// A client that cannot be installed is a failure.
process.env.CI = "1";
runOrExit(bun, ["test", "--timeout", "120000", "packages/server/test/slow/clients/openai-clients.test.ts"]);
