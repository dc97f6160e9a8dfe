/** In the order of the tables. */
export const targetNames = ["direct", "nginx", "bun", "portkey", "presage"] as const;
export type TargetName = (typeof targetNames)[number];

export const targetTitles: Readonly<Record<TargetName, string>> = {
  direct: "the upstream itself",
  nginx: "nginx",
  bun: "a bare Bun proxy",
  portkey: "Portkey",
  presage: "**Presage**",
};

/** The same prediction in the shape that this target takes. */
export interface LoadRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Where one start of a target lives: a directory of its own, so that a second start there finds what the first left. */
export interface Place {
  readonly port: number;
  readonly upstreamOrigin: string;
  readonly directory: string;
}

export interface Launch {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly readyUrl: string;
  readonly request: LoadRequest;
}

/** Writes the configuration that the target needs and tells how to start it. */
export type PrepareLaunch = (place: Place) => Promise<Launch>;
