import { startPostgres } from "./postgres.ts";

// One PostgreSQL for all workers of `npm test`: prints its URL, and exits when its standard input closes.
const server = await startPostgres();
process.stdout.write(`${server.url}\n`);
for await (const _ of Bun.stdin.stream()) {
  // Only the end matters.
}
await server.remove();
process.exit();
