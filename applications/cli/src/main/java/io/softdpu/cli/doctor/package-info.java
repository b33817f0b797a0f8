/**
 * Checks of the machine and the environment for {@code softdpu doctor}. Each gets what it examines
 * as arguments, a folder with {@code proc} and {@code sys} for example, and returns a {@link
 * io.softdpu.cli.doctor.Finding}; start from {@link io.softdpu.cli.doctor.Doctor}. No side effects
 * except the removal of leftovers that the caller asks for.
 */
@NullMarked
package io.softdpu.cli.doctor;

import org.jspecify.annotations.NullMarked;
