import { EditorView } from '@codemirror/view'

/** The editor in the console's own colours; light and dark come with the variables. */
export const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '12px', backgroundColor: 'var(--panel)', color: 'var(--ink)' },
  // The card around it shows the focus: an outline here would lie under the gutter.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--mute)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 25%, transparent) !important',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-wash)', outline: '1px solid var(--edge)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
    boxShadow: 'var(--float)',
    overflow: 'hidden',
  },
  '.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent-wash)', color: 'var(--ink)' },
  '.cm-completionDetail': { color: 'var(--mute)', fontStyle: 'normal', marginLeft: '10px' },
  '.cm-completionInfo': { maxWidth: '320px', padding: '6px 10px', fontFamily: 'var(--font-sans)' },
  '.cm-field-docs': { padding: '6px 10px', maxWidth: '420px', fontFamily: 'var(--font-sans)' },
  '.cm-field-docs code': { fontFamily: 'var(--font-mono)', fontSize: '11px', color: 'var(--mute)' },
  '.cm-diagnostic': { padding: '6px 10px', fontFamily: 'var(--font-sans)', whiteSpace: 'pre-wrap', maxWidth: '480px' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  '.cm-diagnostic-warning': { borderLeft: '3px solid var(--warn)' },
  '.cm-diagnostic-hint': { borderLeft: '3px solid var(--accent)' },
  '.cm-diagnosticAction': {
    backgroundColor: 'var(--accent-fill)',
    color: '#fff',
    borderRadius: '5px',
    padding: '2px 8px',
    margin: '4px 4px 0 0',
    display: 'inline-block',
  },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad) 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--warn) 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-hint': {
    backgroundImage: 'none',
    textDecoration: 'underline dotted var(--accent) 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--hover)', border: 'none', color: 'var(--mute)', padding: '0 6px' },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--ink)' },
})
