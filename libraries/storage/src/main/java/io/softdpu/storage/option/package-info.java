/**
 * Checks of the options of roles and of workloads. Not exported.
 *
 * <p>Role: {@link io.softdpu.storage.option.OptionChecks} refuses what is missing or outside of its
 * range with an error that names the option, its value and what was expected.
 *
 * <p>Thread rule: any thread.
 *
 * <p>Ownership: none; nothing here has a state.
 */
@NullMarked
package io.softdpu.storage.option;

import org.jspecify.annotations.NullMarked;
