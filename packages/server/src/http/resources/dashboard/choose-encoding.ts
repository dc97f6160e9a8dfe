interface Encoding {
  /** As the headers call it. */
  name: string;
  /** Of the files that are encoded so. */
  extension: string;
}

/** The smaller first. */
const encodings: readonly Encoding[] = [
  { name: "br", extension: "br" },
  { name: "gzip", extension: "gz" },
];

/** The best encoding that an `Accept-Encoding` header takes (RFC 9110, 12.5.3), or none. */
export function chooseEncoding(accepted: string | null): Encoding | undefined {
  const refused = /;\s*q=0(\.0*)?$/;
  const names = (accepted ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => !refused.test(part))
    .map((part) => part.split(";")[0]?.trim().toLowerCase());
  return encodings.find(({ name }) => names.includes(name));
}
