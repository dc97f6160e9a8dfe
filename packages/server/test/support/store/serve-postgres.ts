import { startPostgres } from "./postgres.ts";

// One PostgreSQL for all the workers of `npm test`: prints its URL, and ends with whoever started it.
const server = await startPostgres();
process.stdout.write(`${server.url}\n`);
for await (const _ of Bun.stdin.stream()) {
  // Nothing is said here; what counts is the end.
}
await server.remove();
process.exit();
