// The parts of a code that depend on the reader. What is written here stands until the page is loaded.

/** The address of the server in all documents. */
export const documentedOrigin = "http://127.0.0.1:8080";

/** Where each language reads the key until the reader has entered one. */
export const keyPlaceholders = {
  shell: '"X-API-KEY: $PRESAGE_API_KEY"',
  python: 'os.environ["PRESAGE_API_KEY"]',
  typescript: "process.env.PRESAGE_API_KEY",
} as const;

interface Reader {
  origin: string;
  /** Undefined until one has been entered. */
  key: string | undefined;
}

/** What stands in place of each, for a reader. */
export const slots: Readonly<Record<string, (reader: Reader) => string | undefined>> = {
  [documentedOrigin]: ({ origin }) => origin,
  [keyPlaceholders.shell]: ({ key }) => key && `"X-API-KEY: ${key}"`,
  [keyPlaceholders.python]: ({ key }) => key && `"${key}"`,
  [keyPlaceholders.typescript]: ({ key }) => key && `"${key}"`,
};
