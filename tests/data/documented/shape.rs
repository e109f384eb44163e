struct Rect {
    width: f64,
    height: f64,
}

impl Rect {
    fn area(&self) -> f64 {
        todo!()
    }

    fn scale(&mut self, factor: f64) {
        // TODO: in both directions
    }
}

fn total_area(rects: &[Rect]) -> f64 { unimplemented!() }
