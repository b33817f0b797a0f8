/**
 * Text formats that results and messages of several commands share: tables, sizes and colours.
 * Pure.
 *
 * <p>Thread rule: a table belongs to the thread that fills it; the rest may be called from any.
 */
@NullMarked
package io.softdpu.perf.text;

import org.jspecify.annotations.NullMarked;
