/** Text of unknown origin, shown as it is and harmlessly. */
export function PlainText({ text }: { text: string }) {
  return (
    <pre
      tabIndex={0}
      className="max-h-96 overflow-auto p-3 font-mono text-xs leading-5 wrap-anywhere whitespace-pre-wrap"
    >
      {text}
    </pre>
  );
}
