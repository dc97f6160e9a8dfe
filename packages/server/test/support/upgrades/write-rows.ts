import type { RowWriter } from "./row-writer.ts";
import {
  writeAccountRows,
  writeChangeRows,
  writeTaxonomyRows,
  writeUsageRows,
} from "./write-account-rows.ts";
import { writeResultRows } from "./write-result-rows.ts";
import { writeEnvironmentRows, writePredictionRows, writeRunRows } from "./write-run-rows.ts";

/** Writes rows to every table that the version has, as that version does. Other tables are left out. */
export async function writeRows(writer: RowWriter): Promise<void> {
  await writeAccountRows(writer);
  await writeTaxonomyRows(writer);
  await writeResultRows(writer);
  await writeUsageRows(writer);
  await writeRunRows(writer);
  await writePredictionRows(writer);
  await writeEnvironmentRows(writer);
  await writeChangeRows(writer);
}
