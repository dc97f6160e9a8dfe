// The parts of code examples that depend on the reader. The values here are shown until the page is loaded.

/** The server's address in all documents. */
export const documentedOrigin = "http://127.0.0.1:8080";

/** How each language reads the key, until the reader has entered one. */
export const keyPlaceholders = {
  shell: '"X-API-KEY: $PRESAGE_API_KEY"',
  python: 'os.environ["PRESAGE_API_KEY"]',
  typescript: "process.env.PRESAGE_API_KEY",
} as const;

interface Reader {
  origin: string;
  /** Undefined until a key has been entered. */
  key: string | undefined;
}

/** The replacement of each slot for a reader. */
export const slots: Readonly<Record<string, (reader: Reader) => string | undefined>> = {
  [documentedOrigin]: ({ origin }) => origin,
  [keyPlaceholders.shell]: ({ key }) => key && `"X-API-KEY: ${key}"`,
  [keyPlaceholders.python]: ({ key }) => key && `"${key}"`,
  [keyPlaceholders.typescript]: ({ key }) => key && `"${key}"`,
};
