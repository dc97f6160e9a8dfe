/** The logo, as SVG; the dashboard has it in `shell/mark.tsx`. */
export const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#4f46e5"/><path d="M11 24V8h6.2a5.4 5.4 0 0 1 0 10.8H11" fill="none" stroke="white" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
