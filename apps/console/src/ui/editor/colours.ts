import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { tags } from '@lezer/highlight'

const STYLE = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--mute)', fontStyle: 'italic' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--series-4)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--series-2)' },
  { tag: [tags.atom, tags.keyword, tags.operatorKeyword], color: 'var(--series-5)' },
  {
    tag: [tags.propertyName, tags.function(tags.variableName), tags.function(tags.propertyName)],
    color: 'var(--series-1)',
  },
  { tag: [tags.definition(tags.className), tags.className, tags.meta], color: 'var(--series-3)' },
  { tag: tags.self, fontStyle: 'italic' },
  { tag: [tags.bracket, tags.punctuation, tags.operator], color: 'var(--soft)' },
])

/** The same colours for every language. */
export const colours = syntaxHighlighting(STYLE)
