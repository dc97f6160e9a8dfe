import type { Chat } from "./chat.ts";

export interface Lookup {
  /** Characters of the prompt that have to be computed. */
  readonly missing: number;
  /** Whether everything up to the latest turn is in memory. Undefined for the first step of a trajectory, which has nothing before it. */
  readonly isHit: boolean | undefined;
}

/** What a model server keeps of earlier prompts: the latest trajectories, and the system turns in them, which trajectories share. */
export interface PrefixMemory {
  look(chat: Chat): Lookup;
  /** After a response: the prompt is in memory. */
  keep(chat: Chat): void;
  clear(): void;
}

interface Prompt {
  readonly system: string;
  readonly trajectory: string;
  readonly systemLength: number;
  readonly length: number;
  /** Up to the latest response. */
  readonly previousLength: number;
}

export const createPrefixMemory = (trajectories: number): PrefixMemory => {
  /** By trajectory, the least recently used first. */
  const kept = new Map<string, Prompt>();

  return {
    look: (chat) => {
      const { system, trajectory, systemLength, length, previousLength } = read(chat);
      const known = kept.get(trajectory)?.length ?? 0;
      const isFirst = chat.messages.length <= 2;
      if (known > 0) return { missing: length - known, isHit: isFirst ? undefined : known >= previousLength };
      const isShared = kept.values().some((prompt) => prompt.system === system);
      return { missing: length - (isShared ? systemLength : 0), isHit: isFirst ? undefined : false };
    },
    keep: (chat) => {
      const prompt = read(chat);
      kept.delete(prompt.trajectory);
      kept.set(prompt.trajectory, prompt);
      const [oldest] = kept.keys();
      if (kept.size > trajectories && oldest !== undefined) kept.delete(oldest);
    },
    clear: () => kept.clear(),
  };
};

/** A trajectory is known by its system turn and its first user turn. */
const read = ({ messages }: Chat): Prompt => {
  const lengthOf = (some: Chat["messages"]) => some.reduce((sum, { content }) => sum + content.length, 0);
  const [system, task] = messages.map(({ content }) => Bun.hash(content).toString(36));
  return {
    system: system ?? "",
    trajectory: `${system} ${task}`,
    systemLength: messages[0]?.content.length ?? 0,
    length: lengthOf(messages),
    previousLength: lengthOf(messages.slice(0, -2)),
  };
};
