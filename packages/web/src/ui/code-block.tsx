import { CopyButton } from "./copy-button.tsx";

/** Text to copy: a command, a key, a program. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className="relative min-w-0 rounded-md border border-line bg-sunken">
      <pre
        // What scrolls must be reachable by keyboard.
        tabIndex={0}
        className="max-h-96 overflow-auto p-3 pr-10 font-mono text-xs leading-5"
      >
        {code}
      </pre>
      <div className="absolute top-1.5 right-1.5">
        <CopyButton text={code} label={`Copy ${label}`} />
      </div>
    </div>
  );
}
