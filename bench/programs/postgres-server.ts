// bun postgres-server.ts DATABASES: runs a PostgreSQL for the bench until SIGTERM. Writes the URLs of DATABASES empty
// databases as a line of JSON. A separate process, so that it is stopped and its files removed however the bench ends.
import { startPostgres } from "../../packages/server/test/support/store/postgres.ts";

const server = await startPostgres();
process.on("SIGTERM", () => void server.remove().then(() => process.exit(0)));
const urls: string[] = [];
for (let made = 0; made < Number(process.argv[2]); made += 1) urls.push(await server.createDatabase());
process.stdout.write(`${JSON.stringify(urls)}\n`);
setInterval(() => {}, 1 << 30);
