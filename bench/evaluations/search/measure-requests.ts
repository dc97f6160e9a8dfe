import { median } from "../../median.ts";

/** The same question to a database of some size. */
export interface Question {
  readonly size: number;
  readonly url: string;
  readonly options: RequestInit;
}

export interface Answer {
  readonly size: number;
  readonly medianMs: number;
  readonly body: unknown;
}

/** A question that takes seconds is asked less often. */
const enoughMs = 6_000;

export const ask = async ({ url, options }: Question): Promise<unknown> => {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(`${response.status}: ${(await response.text()).slice(0, 300)}`);
  return await response.json();
};

/** Asks by turns, so that what slows the machine slows every size, and begins with another size each time. */
export const measureRequests = async (questions: readonly Question[], repeats: number): Promise<Answer[]> => {
  const asked = [];
  for (const question of questions) {
    asked.push({ question, body: await ask(question), timesMs: [] as number[], spentMs: 0 });
  }
  for (let warmUp = 0; warmUp < 3; warmUp += 1) {
    for (const one of asked) if (one.spentMs < enoughMs / 10) one.spentMs += await time(one.question);
  }
  for (const one of asked) one.spentMs = 0;
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const first = repeat % asked.length;
    for (const one of [...asked.slice(first), ...asked.slice(0, first)]) {
      if (one.spentMs > enoughMs) continue;
      const timeMs = await time(one.question);
      one.timesMs.push(timeMs);
      one.spentMs += timeMs;
    }
  }
  return asked.map(({ question, body, timesMs }) => ({
    size: question.size,
    medianMs: median(timesMs),
    body,
  }));
};

const time = async (question: Question): Promise<number> => {
  const startedAtMs = performance.now();
  await ask(question);
  return performance.now() - startedAtMs;
};
