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

/** The same prediction in the form that this target accepts. */
export interface LoadRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Where a target starts: its own directory, so that a second start finds the files of the first. */
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

/** Writes the target's configuration and returns how to start it. */
export type PrepareLaunch = (place: Place) => Promise<Launch>;
