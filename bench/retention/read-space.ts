import { Database } from "bun:sqlite";
import { SQL } from "bun";

/** What the results take in the database's files, in bytes, with what is free inside. */
export const readSpace = async (url: string): Promise<number> => {
  if (url.startsWith("sqlite:")) {
    const database = new Database(url.slice("sqlite:".length), { readonly: true });
    const page = database
      .query("select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()")
      .get() as { bytes: number };
    database.close();
    return page.bytes;
  }
  const database = new SQL(url, { max: 1 });
  const [size] = await database.unsafe(`select sum(pg_total_relation_size(oid)) as bytes from pg_class
    where relname in ('evaluation_results', 'evaluation_payloads', 'evaluation_tags', 'evaluation_corrections')`);
  await database.close();
  return Number(size.bytes);
};

/** What autovacuum does once a fifth of a table is deleted. SQLite does not need it. */
export const vacuum = async (url: string): Promise<void> => {
  if (url.startsWith("sqlite:")) return;
  const database = new SQL(url, { max: 1 });
  await database.unsafe("vacuum");
  await database.close();
};
