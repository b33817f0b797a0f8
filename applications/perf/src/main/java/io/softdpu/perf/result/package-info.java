/**
 * Parts that the results of all measurements share: {@link io.softdpu.perf.result.ResultHeader}
 * says where a result comes from, {@link io.softdpu.perf.result.MeasurementNotes} what makes its
 * figures meaningless.
 *
 * <p>The values are immutable, and all functions may be called from any thread.
 */
@NullMarked
package io.softdpu.perf.result;

import org.jspecify.annotations.NullMarked;
