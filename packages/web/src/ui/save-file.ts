// Saves tables as CSV and drawings as pictures. Loaded when something is saved.

import { stringify } from "csv-stringify/browser/esm/sync";
import { plainCell } from "./data-table/columns.ts";

/** Makes the browser save a text or bytes as a file. */
export function saveFile(name: string, content: string | Blob, type = "text/plain"): void {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Not immediately: some browsers start to read after the click.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** CSV according to RFC 4180. No cell begins like a formula, which spreadsheets would run. */
export function writeCsv(records: readonly (readonly string[])[]): string {
  const cells = records.map((record) => record.map(plainCell));
  return stringify(cells, { record_delimiter: "windows", quoted_match: /[\r\n]/ });
}

/** A name for a file, of letters and digits. */
export function fileNameOf(label: string, extension: string): string {
  const words = label.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return `${words.join("-").slice(0, 80) || "table"}.${extension}`;
}

/** Sharp on screens with two pixels per CSS pixel. */
const pixelRatio = 2;

/** An SVG text as a PNG. */
export async function toPng(
  svg: string,
  { width, height }: { width: number; height: number },
): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * pixelRatio;
  canvas.height = height * pixelRatio;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return await new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob === null ? reject(new Error("The picture is empty")) : resolve(blob))),
  );
}
