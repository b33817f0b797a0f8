/**
 * Checks of the options of roles and of workloads. Not exported.
 *
 * <p>Role: {@link io.softdpu.storage.option.OptionChecks} rejects missing options and values out of
 * range with an error that names the option, its value and the expected value.
 *
 * <p>Thread rule: any thread.
 *
 * <p>Ownership: none; stateless.
 */
@NullMarked
package io.softdpu.storage.option;

import org.jspecify.annotations.NullMarked;
