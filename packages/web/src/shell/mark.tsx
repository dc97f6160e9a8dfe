/** The logo and name. */
export function Mark() {
  return (
    <span className="inline-flex items-center gap-2 text-sm font-semibold tracking-tight">
      <svg viewBox="0 0 32 32" className="size-6" aria-hidden>
        <rect width="32" height="32" rx="8" fill="#4f46e5" />
        <path
          d="M11 24V8h6.2a5.4 5.4 0 0 1 0 10.8H11"
          fill="none"
          stroke="white"
          strokeWidth="3.2"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      Presage
    </span>
  );
}
