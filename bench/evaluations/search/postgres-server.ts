// bun postgres-server.ts DATABASES: a PostgreSQL of the bench's own, until SIGTERM. Writes the URLs of so many empty
// databases as a line of JSON. A process of its own, so that whatever ends the bench ends it, its files included.
import { startPostgres } from "../../../packages/server/test/support/store/postgres.ts";

const server = await startPostgres();
process.on("SIGTERM", () => void server.remove().then(() => process.exit(0)));
const urls: string[] = [];
for (let made = 0; made < Number(process.argv[2]); made += 1) urls.push(await server.createDatabase());
process.stdout.write(`${JSON.stringify(urls)}\n`);
setInterval(() => {}, 1 << 30);
