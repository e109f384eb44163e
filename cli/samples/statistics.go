// Package statistics sums up series of measurements.
package statistics

import "errors"

var ErrEmpty = errors.New("statistics: no values")

// Mean returns the average of the values.
func Mean(values []float64) (float64, error) {
	if len(values) == 0 {
		return 0, ErrEmpty
	}
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	return sum / float64(len(values)), nil
}

// Max returns the largest of the values.
func Max(values []float64) (float64, error) {
	
}
